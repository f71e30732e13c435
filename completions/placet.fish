function _placet_completion
    for line in (env _PLACET_COMPLETE=fish_complete COMP_WORDS=(commandline -cp) \
            COMP_CWORD=(commandline -t) placet)
        set -l told (string split -m 1 "," -- $line)
        switch $told[1]
            case dir
                __fish_complete_directories $told[2]
            case file
                __fish_complete_path $told[2]
            case plain
                printf '%s\n' $told[2]
        end
    end
end

complete --no-files --command placet --arguments "(_placet_completion)"
